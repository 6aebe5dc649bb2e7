"""Fixtures of the studio."""

from studio_client import client as client
from studio_client import make_desk as make_desk
