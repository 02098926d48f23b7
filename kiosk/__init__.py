"""Pyramid solitaire on a touchscreen kiosk: the session, the table, the screens and their look."""
