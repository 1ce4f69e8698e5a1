"""The exercises of lesson 00, one a file, named for its answer."""
