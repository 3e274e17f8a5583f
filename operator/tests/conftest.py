"""Settings of all tests."""

from hypothesis import settings

# No deadline: how long an example takes on a busy machine says nothing about the code.
settings.register_profile("dbbench", deadline=None)
settings.load_profile("dbbench")
