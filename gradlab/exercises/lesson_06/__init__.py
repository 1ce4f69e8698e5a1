"""The exercises of lesson 06, one a file, named for its answer."""
