"""Traces of host calls and GPU operations, whatever tool wrote them: nested by time, joined to launches, as a Profile."""
