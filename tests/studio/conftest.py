"""Fixtures of the studio."""

from studio_browser import serve as serve
from studio_browser import visit as visit
from studio_client import client as client
from studio_client import make_session as make_session
