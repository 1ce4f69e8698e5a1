"""The exercises of lesson 02, one a file, named for its answer."""
