/* What the kernel answers when it is asked about a touchscreen, for one that is a pipe.
 *
 * Preloaded, it takes the place of ioctl() for requests to input devices; what it answers is set
 * from Python (evdev.py), in the same process.  All other requests go to the kernel.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/input.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SLOTS 10

int evdev_type_b = 1;                /* has slots */
int evdev_gone;                      /* as after it was unplugged */
struct input_absinfo evdev_axes[ABS_CNT];
unsigned char evdev_has[ABS_CNT];
int evdev_slots[ABS_CNT][SLOTS];
unsigned char evdev_keys[KEY_CNT / 8]; /* those which are down */

int ioctl(int fd, unsigned long request, ...)
{
	va_list arguments;
	va_start(arguments, request);
	void *answer = va_arg(arguments, void *);
	va_end(arguments);

	unsigned size = _IOC_SIZE(request), number = _IOC_NR(request);
	if (_IOC_TYPE(request) != 'E' || _IOC_DIR(request) != _IOC_READ)
		return syscall(SYS_ioctl, fd, request, answer);
	if (evdev_gone)
		return errno = ENODEV, -1;
	if (number == 0x20 + EV_ABS) {
		unsigned char *bits = answer;
		memset(bits, 0, size);
		for (unsigned code = 0; code < ABS_CNT && code < 8 * size; code++)
			bits[code / 8] |= evdev_has[code] << code % 8;
		return size;
	}
	if (number >= 0x40 && number < 0x40 + ABS_CNT) {
		memcpy(answer, &evdev_axes[number - 0x40], sizeof(struct input_absinfo));
		return 0;
	}
	if (number == 0x18) {
		memcpy(answer, evdev_keys, size < sizeof evdev_keys ? size : sizeof evdev_keys);
		return size;
	}
	if (number == 0x0a && evdev_type_b) {
		int *words = answer;
		unsigned code = words[0], count = size / sizeof(int) - 1;
		if (code >= ABS_CNT)
			return errno = EINVAL, -1;
		memcpy(words + 1, evdev_slots[code], (count < SLOTS ? count : SLOTS) * sizeof(int));
		return 0;
	}
	return errno = EINVAL, -1;
}
