/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the two files of the module share. User space needs no header: the
 * interface is text (README.md).
 */

#ifndef BWMON_VOTE_H
#define BWMON_VOTE_H

#include <linux/kref.h>
#include <linux/list.h>
#include <linux/miscdevice.h>
#include <linux/mutex.h>
#include <linux/types.h>

/* The first line that a read gives names it. */
#define BWMON_VOTE_VERSION	1

/* The longest line that a write may hold, with its end. */
#define BWMON_VOTE_LINE		128
/* The longest name of a path: with two numbers it fits into a line. */
#define BWMON_VOTE_NAME		64

struct bwmon_path;
struct bwmon_uio;
struct device;
struct platform_device;

/*
 * One device that the driver has: it lives until the driver has let go of it
 * and the last file is closed.
 */
struct bwmon_node {
	struct kref ref;
	/* NULL once the driver has let go. */
	struct device *dev;
	/* The device's name. */
	const char *name;
	struct miscdevice misc;
	/* NULL where there is no block. */
	struct bwmon_uio *uio;

	/* Guards all that follows, and the votes of the files. */
	struct mutex lock;
	struct list_head files;
	bool gone;
	bool suspended;
	unsigned int path_count;
	struct bwmon_path *paths;
};

#if IS_REACHABLE(CONFIG_UIO)
struct bwmon_uio *bwmon_uio_add(struct platform_device *pdev);
void bwmon_uio_suspend(struct bwmon_uio *uio);
void bwmon_uio_resume(struct bwmon_uio *uio);
#else
static inline struct bwmon_uio *bwmon_uio_add(struct platform_device *pdev)
{
	return NULL;
}

static inline void bwmon_uio_suspend(struct bwmon_uio *uio)
{
}

static inline void bwmon_uio_resume(struct bwmon_uio *uio)
{
}
#endif

#endif
