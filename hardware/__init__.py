"""Physical buttons, lamps, presence sensor and backlight: knows pins, knows nothing of cards.

Invariant: nothing in this package imports the engine or the kiosk.
"""
