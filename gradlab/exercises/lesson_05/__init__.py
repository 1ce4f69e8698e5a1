"""The exercises of lesson 05, one a file, named for its answer."""
