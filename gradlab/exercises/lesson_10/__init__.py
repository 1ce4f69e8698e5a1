"""The exercises of lesson 10, one a file, named for its answer."""
