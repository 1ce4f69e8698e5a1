"""The exercises of lesson 01, one a file, named for its answer."""
