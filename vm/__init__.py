"""The whole appliance in a virtual machine, played, unplugged and cut off: ``make vm``.

A Debian image gets the kiosk by the same installer as a real machine.  It runs in QEMU, and is
driven from outside as a visitor, a cabinet and a power company would: touches, pins, plugs.

Invariant: nothing of this belongs to the kiosk.  What is put into the image besides what the
installer brings only watches, or stands for hardware (`vm/guest/`).
"""
