"""For all tests: Ctrl-C means what it means in a terminal, also where a shell started the tests in the background.

Such a shell has SIGINT ignored, every process started from here would inherit that, and no kernel could be interrupted.
"""

import signal
import threading

if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)
