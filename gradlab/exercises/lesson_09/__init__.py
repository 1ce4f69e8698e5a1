"""The exercises of lesson 09, one a file, named for its answer."""
