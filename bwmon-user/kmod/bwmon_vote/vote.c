// SPDX-License-Identifier: GPL-2.0-only
/*
 * Interconnect votes for user space, held by open files; and the registers
 * and the interrupt of a BWMON block as a UIO device.
 *
 * The driver binds to nothing by itself. An administrator gives it a platform
 * device whose device-tree node has "interconnects" (driver_override); the
 * votes then go to that node's own paths. README.md has the interface.
 *
 * Two files share one struct node per device:
 *   vote.c   the device, its paths, the votes of the open files
 *   uio.c    the block's registers and its interrupt
 */

#include <linux/ctype.h>
#include <linux/device.h>
#include <linux/fs.h>
#include <linux/interconnect.h>
#include <linux/kernel.h>
#include <linux/kstrtox.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/of.h>
#include <linux/overflow.h>
#include <linux/platform_device.h>
#include <linux/pm.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "bwmon_vote.h"

/*
 * The framework adds the averages of all consumers of a node up in 32 bits,
 * and providers use INT_MAX for "as much as there is" until sync_state. No
 * vote of ours, and no sum of them, comes near either.
 */
#define BWMON_VOTE_LIMIT	((u32)INT_MAX)

/* A bandwidth on one path, in kBps. */
struct bwmon_bw {
	u32 avg;
	u32 peak;
};

/* One path of the node. */
struct bwmon_path {
	struct icc_path *icc;
	/* From "interconnect-names"; NULL where the tree gives none. */
	const char *name;
	/* What the framework last accepted. */
	struct bwmon_bw in_force;
};

/* One open file: its votes, one per path. */
struct bwmon_file {
	struct bwmon_node *node;
	struct list_head link;
	struct bwmon_bw votes[];
};

static void bwmon_node_free(struct kref *ref)
{
	struct bwmon_node *node = container_of(ref, struct bwmon_node, ref);
	unsigned int i;

	for (i = 0; node->paths && i < node->path_count; i++)
		kfree(node->paths[i].name);
	kfree(node->paths);
	kfree(node->misc.name);
	kfree(node->name);
	kfree(node);
}

static void bwmon_node_put(void *node)
{
	kref_put(&((struct bwmon_node *)node)->ref, bwmon_node_free);
}

/*
 * What all open files together want of a path: averages add up, the highest
 * peak wins, as the framework itself does between consumers.
 */
static int bwmon_path_total(struct bwmon_node *node, unsigned int index,
			    struct bwmon_bw *total)
{
	struct bwmon_file *file;

	*total = (struct bwmon_bw){};
	list_for_each_entry(file, &node->files, link) {
		const struct bwmon_bw *vote = &file->votes[index];

		if (check_add_overflow(total->avg, vote->avg, &total->avg) ||
		    total->avg >= BWMON_VOTE_LIMIT)
			return -EOVERFLOW;
		total->peak = max(total->peak, vote->peak);
	}
	return 0;
}

/* Brings a path to what its files want. Under node->lock. */
static int bwmon_path_apply(struct bwmon_node *node, unsigned int index)
{
	struct bwmon_path *path = &node->paths[index];
	struct bwmon_bw total;
	int ret;

	ret = bwmon_path_total(node, index, &total);
	if (ret)
		return ret;
	if (node->suspended)
		total = (struct bwmon_bw){};
	if (total.avg == path->in_force.avg && total.peak == path->in_force.peak)
		return 0;
	ret = icc_set_bw(path->icc, total.avg, total.peak);
	if (!ret)
		path->in_force = total;
	return ret;
}

/* As above for all paths, where there is nobody to tell of a failure. */
static void bwmon_node_apply(struct bwmon_node *node)
{
	unsigned int i;
	int ret;

	for (i = 0; i < node->path_count; i++) {
		ret = bwmon_path_apply(node, i);
		if (ret)
			dev_warn(node->dev, "path %u keeps %u/%u kBps: error %d\n",
				 i, node->paths[i].in_force.avg,
				 node->paths[i].in_force.peak, ret);
	}
}

/* A path by its index, or by its name. */
static int bwmon_path_find(const struct bwmon_node *node, const char *word)
{
	unsigned int i, index;
	int ret;

	if (isdigit(word[0])) {
		ret = kstrtouint(word, 10, &index);
		if (ret)
			return ret;
		return index < node->path_count ? index : -ENOENT;
	}
	for (i = 0; i < node->path_count; i++)
		if (node->paths[i].name && !strcmp(node->paths[i].name, word))
			return i;
	return -ENOENT;
}

/* Decimal digits and nothing else: kstrtou32() would also take a sign. */
static int bwmon_parse_kbps(const char *word, u32 *kbps)
{
	int ret;

	if (!isdigit(word[0]))
		return -EINVAL;
	ret = kstrtou32(word, 10, kbps);
	if (ret)
		return ret;
	return *kbps < BWMON_VOTE_LIMIT ? 0 : -ERANGE;
}

/* Places a vote of one file. What is refused leaves everything as it was. */
static int bwmon_file_vote(struct bwmon_file *file, const char *word,
			   struct bwmon_bw vote)
{
	struct bwmon_node *node = file->node;
	struct bwmon_bw before;
	int index, ret;

	mutex_lock(&node->lock);
	if (node->gone) {
		ret = -ENODEV;
		goto unlock;
	}
	index = bwmon_path_find(node, word);
	if (index < 0) {
		ret = index;
		goto unlock;
	}
	before = file->votes[index];
	file->votes[index] = vote;
	ret = bwmon_path_apply(node, index);
	if (ret)
		file->votes[index] = before;
unlock:
	mutex_unlock(&node->lock);
	return ret;
}

/* "PATH AVG PEAK", one line for each write. */
static ssize_t bwmon_vote_write(struct file *filp, const char __user *buf,
				size_t len, loff_t *ppos)
{
	struct seq_file *seq = filp->private_data;
	char line[BWMON_VOTE_LINE];
	const size_t taken = len;
	struct bwmon_bw vote;
	char *rest, *words[3];
	unsigned int i;
	int ret;

	if (!len || len >= sizeof(line))
		return -EINVAL;
	if (copy_from_user(line, buf, len))
		return -EFAULT;
	line[len] = '\0';
	if (line[len - 1] == '\n')
		line[--len] = '\0';
	/* One line of text: kstrtou32() below would let a second '\n' pass. */
	if (memchr(line, '\0', len) || memchr(line, '\n', len))
		return -EINVAL;

	rest = line;
	for (i = 0; i < ARRAY_SIZE(words); i++) {
		words[i] = strsep(&rest, " ");
		if (!words[i] || !*words[i])
			return -EINVAL;
	}
	if (rest)
		return -EINVAL;
	ret = bwmon_parse_kbps(words[1], &vote.avg);
	if (!ret)
		ret = bwmon_parse_kbps(words[2], &vote.peak);
	if (!ret)
		ret = bwmon_file_vote(seq->private, words[0], vote);
	return ret ? ret : taken;
}

/* The paths, with this file's votes and what is in force for all files. */
static int bwmon_vote_show(struct seq_file *seq, void *unused)
{
	struct bwmon_file *file = seq->private;
	struct bwmon_node *node = file->node;
	unsigned int i;
	int ret = 0;

	mutex_lock(&node->lock);
	if (node->gone) {
		ret = -ENODEV;
		goto unlock;
	}
	seq_printf(seq, "bwmon-vote %d %s\n", BWMON_VOTE_VERSION, node->name);
	seq_puts(seq, "path name avg_kBps peak_kBps all_avg_kBps all_peak_kBps\n");
	for (i = 0; i < node->path_count; i++) {
		const struct bwmon_path *path = &node->paths[i];
		const struct bwmon_bw *vote = &file->votes[i];

		seq_printf(seq, "%u %s %u %u %u %u\n", i, path->name ?: "-",
			   vote->avg, vote->peak,
			   path->in_force.avg, path->in_force.peak);
	}
unlock:
	mutex_unlock(&node->lock);
	return ret;
}

static int bwmon_vote_open(struct inode *inode, struct file *filp)
{
	struct bwmon_node *node = container_of(filp->private_data,
					       struct bwmon_node, misc);
	struct bwmon_file *file;
	int ret;

	file = kzalloc(struct_size(file, votes, node->path_count), GFP_KERNEL);
	if (!file)
		return -ENOMEM;
	file->node = node;
	/* misc_open() left its own pointer, and seq_open() wants its place. */
	filp->private_data = NULL;
	ret = single_open(filp, bwmon_vote_show, file);
	if (ret) {
		kfree(file);
		return ret;
	}
	/* misc_deregister() waits for this function: the node still lives. */
	kref_get(&node->ref);
	mutex_lock(&node->lock);
	list_add_tail(&file->link, &node->files);
	mutex_unlock(&node->lock);
	return 0;
}

/* The last reference to an open file: also after a crash or kill -9. */
static int bwmon_vote_release(struct inode *inode, struct file *filp)
{
	struct seq_file *seq = filp->private_data;
	struct bwmon_file *file = seq->private;
	struct bwmon_node *node = file->node;

	mutex_lock(&node->lock);
	list_del(&file->link);
	if (!node->gone)
		bwmon_node_apply(node);
	mutex_unlock(&node->lock);
	kfree(file);
	bwmon_node_put(node);
	return single_release(inode, filp);
}

static const struct file_operations bwmon_vote_fops = {
	.owner = THIS_MODULE,
	.open = bwmon_vote_open,
	.read = seq_read,
	.write = bwmon_vote_write,
	.llseek = seq_lseek,
	.release = bwmon_vote_release,
};

/*
 * The device goes: its paths with it, and so all votes. Files that are still
 * open get ENODEV from now on.
 */
static void bwmon_paths_put(void *data)
{
	struct bwmon_node *node = data;
	unsigned int i;

	mutex_lock(&node->lock);
	node->gone = true;
	node->dev = NULL;
	for (i = 0; i < node->path_count; i++) {
		/* icc_put() votes 0 first. */
		icc_put(node->paths[i].icc);
		node->paths[i].icc = NULL;
		node->paths[i].in_force = (struct bwmon_bw){};
	}
	mutex_unlock(&node->lock);
}

/* A name goes through a line of text: one word that is no index. */
static int bwmon_path_name(struct device *dev, unsigned int index,
			   const char **copy)
{
	const char *name;

	if (of_property_read_string_index(dev->of_node, "interconnect-names",
					  index, &name))
		return 0;
	if (!*name || isdigit(*name) || strpbrk(name, " \t\n") ||
	    strlen(name) > BWMON_VOTE_NAME)
		return 0;
	*copy = kstrdup(name, GFP_KERNEL);
	return *copy ? 0 : -ENOMEM;
}

static int bwmon_path_get(struct device *dev, unsigned int index,
			  struct bwmon_path *path)
{
	struct icc_path *icc;
	int ret;

	ret = bwmon_path_name(dev, index, &path->name);
	if (ret)
		return ret;
	icc = of_icc_get_by_index(dev, index);
	if (IS_ERR(icc))
		return dev_err_probe(dev, PTR_ERR(icc), "no path %u\n", index);
	/* NULL: the kernel has no interconnect framework. */
	if (!icc)
		return -ENODEV;
	path->icc = icc;
	return 0;
}

static int bwmon_paths_get(struct bwmon_node *node)
{
	struct device *dev = node->dev;
	unsigned int i;
	int ends, ret;

	ends = of_count_phandle_with_args(dev->of_node, "interconnects",
					  "#interconnect-cells");
	if (ends == -ENOENT)
		return dev_err_probe(dev, -ENODEV, "its node has no interconnects\n");
	if (ends < 0)
		return dev_err_probe(dev, ends, "its interconnects cannot be read\n");
	/* Source and destination of each. */
	if (!ends || ends % 2)
		return dev_err_probe(dev, -EINVAL, "its interconnects are not pairs\n");

	node->paths = kcalloc(ends / 2, sizeof(*node->paths), GFP_KERNEL);
	if (!node->paths)
		return -ENOMEM;
	node->path_count = ends / 2;
	/* From here on, so that a failure puts what is there: icc_put(NULL) is fine. */
	ret = devm_add_action_or_reset(dev, bwmon_paths_put, node);
	for (i = 0; !ret && i < node->path_count; i++)
		ret = bwmon_path_get(dev, i, &node->paths[i]);
	return ret;
}

static void bwmon_misc_put(void *node)
{
	misc_deregister(&((struct bwmon_node *)node)->misc);
}

static int bwmon_misc_add(struct bwmon_node *node)
{
	int ret;

	node->misc.minor = MISC_DYNAMIC_MINOR;
	node->misc.fops = &bwmon_vote_fops;
	node->misc.parent = node->dev;
	node->misc.mode = 0600;
	ret = misc_register(&node->misc);
	if (ret)
		return dev_err_probe(node->dev, ret, "no character device\n");
	return devm_add_action_or_reset(node->dev, bwmon_misc_put, node);
}

static int bwmon_vote_probe(struct platform_device *pdev)
{
	struct device *dev = &pdev->dev;
	struct bwmon_node *node;
	int ret;

	if (!dev->of_node)
		return dev_err_probe(dev, -ENODEV, "it has no device-tree node\n");
	node = kzalloc(sizeof(*node), GFP_KERNEL);
	if (!node)
		return -ENOMEM;
	kref_init(&node->ref);
	mutex_init(&node->lock);
	INIT_LIST_HEAD(&node->files);
	node->dev = dev;
	/* The driver's reference; every open file has one of its own. */
	ret = devm_add_action_or_reset(dev, bwmon_node_put, node);
	if (ret)
		return ret;
	node->name = kstrdup(dev_name(dev), GFP_KERNEL);
	node->misc.name = kasprintf(GFP_KERNEL, "bwmon-vote-%s", dev_name(dev));
	if (!node->name || !node->misc.name)
		return -ENOMEM;
	ret = bwmon_paths_get(node);
	if (ret)
		return ret;
	ret = bwmon_misc_add(node);
	if (ret)
		return ret;
	platform_set_drvdata(pdev, node);
	/* A node that can vote and has no block, or whose block is taken, votes. */
	node->uio = bwmon_uio_add(pdev);
	return 0;
}

/* No vote outlives the agents that could change it, which are frozen by now. */
static int bwmon_vote_suspend(struct device *dev)
{
	struct bwmon_node *node = dev_get_drvdata(dev);

	bwmon_uio_suspend(node->uio);
	mutex_lock(&node->lock);
	node->suspended = true;
	bwmon_node_apply(node);
	mutex_unlock(&node->lock);
	return 0;
}

static int bwmon_vote_resume(struct device *dev)
{
	struct bwmon_node *node = dev_get_drvdata(dev);

	mutex_lock(&node->lock);
	node->suspended = false;
	bwmon_node_apply(node);
	mutex_unlock(&node->lock);
	bwmon_uio_resume(node->uio);
	return 0;
}

static const struct dev_pm_ops bwmon_vote_pm = {
	LATE_SYSTEM_SLEEP_PM_OPS(bwmon_vote_suspend, bwmon_vote_resume)
};

/*
 * No table of devices: it drives what driver_override gives it, nothing else.
 * There is no remove(): probe() leaves every step with its own undoing.
 */
static struct platform_driver bwmon_vote_driver = {
	.probe = bwmon_vote_probe,
	.driver = {
		.name = "bwmon-vote",
		.pm = pm_sleep_ptr(&bwmon_vote_pm),
	},
};
module_platform_driver(bwmon_vote_driver);

MODULE_DESCRIPTION("Interconnect votes for user space, and BWMON blocks as UIO");
MODULE_VERSION("0.1.0");
MODULE_LICENSE("GPL");
