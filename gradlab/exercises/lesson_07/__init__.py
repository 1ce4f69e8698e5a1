"""The exercises of lesson 04, one a file, named for its answer."""
