// SPDX-License-Identifier: GPL-2.0-only
/*
 * The registers and the interrupt of a BWMON block as a UIO device.
 *
 * uio_pdrv_genirq masks the line at the interrupt controller, so it must have
 * the line for itself; and stock kernels may be built without it. This driver
 * knows where a BWMON block says whether an interrupt is its own, and how the
 * block is silenced. So it shares lines (several monitors do), and a block
 * whose owner died falls silent after one interrupt.
 *
 * What is reported is "the block interrupted and is masked". The owner looks
 * at the zones, programs the block anew and unmasks it there, in its mapping.
 */

#include <linux/bits.h>
#include <linux/fs.h>
#include <linux/interrupt.h>
#include <linux/io.h>
#include <linux/ioport.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/of.h>
#include <linux/platform_device.h>
#include <linux/slab.h>
#include <linux/uio_driver.h>

#include "bwmon_vote.h"

/* Where a layout has what this driver touches: icc-bwmon.c has the whole map. */
struct bwmon_layout {
	/* Which zones interrupted, in these bits. */
	u32 irq_status;
	u32 irq_zones;
	/* Which zones may interrupt. */
	u32 irq_enable;
	/* Whether the block may interrupt at all; in the last region. */
	bool has_global;
	u32 global_irq_enable;
	/* Register regions of the node. */
	unsigned int regions;
};

static const struct bwmon_layout bwmon_v4_split = {
	.irq_status = 0x100, .irq_zones = GENMASK(7, 4), .irq_enable = 0x10c,
	.has_global = true, .global_irq_enable = 0x10c, .regions = 2,
};

static const struct bwmon_layout bwmon_v4_unified = {
	.irq_status = 0x100, .irq_zones = GENMASK(7, 4), .irq_enable = 0x10c,
	.has_global = true, .global_irq_enable = 0x00c, .regions = 1,
};

static const struct bwmon_layout bwmon_v5 = {
	.irq_status = 0x000, .irq_zones = GENMASK(3, 0), .irq_enable = 0x00c,
	.regions = 1,
};

/*
 * By the last compatibles, as icc-bwmon does: the names before them can say
 * "cpu" or "llcc" of either layout. For looking up only, not for binding.
 */
static const struct of_device_id bwmon_layouts[] = {
	{ .compatible = "qcom,msm8998-bwmon", .data = &bwmon_v4_split },
	{ .compatible = "qcom,sdm845-bwmon", .data = &bwmon_v4_unified },
	{ .compatible = "qcom,sdm845-llcc-bwmon", .data = &bwmon_v5 },
	{ .compatible = "qcom,sc7280-llcc-bwmon", .data = &bwmon_v5 },
	/* Trees from before the fallbacks. */
	{ .compatible = "qcom,sc7280-cpu-bwmon", .data = &bwmon_v4_unified },
	{ .compatible = "qcom,sc8280xp-cpu-bwmon", .data = &bwmon_v4_unified },
	{ .compatible = "qcom,sm8550-cpu-bwmon", .data = &bwmon_v4_unified },
	{}
};

struct bwmon_uio {
	struct device *dev;
	const struct bwmon_layout *layout;
	void __iomem *base;
	void __iomem *global;
	struct uio_info info;
	bool has_irq;

	/* Guards what follows. */
	struct mutex lock;
	/* Registered with UIO: it may be told of events. */
	bool live;
	/* The node in /dev through which it is open; NULL while it is not. */
	struct inode *owner;
};

/* Silences the block, outermost first, and waits until that has arrived. */
static void bwmon_uio_mask(struct bwmon_uio *uio)
{
	if (uio->layout->has_global)
		writel(0, uio->global + uio->layout->global_irq_enable);
	writel(0, uio->base + uio->layout->irq_enable);
	readl(uio->base + uio->layout->irq_status);
}

static irqreturn_t bwmon_uio_irq(int irq, void *data)
{
	struct bwmon_uio *uio = data;
	u32 status = readl(uio->base + uio->layout->irq_status);

	/* A neighbour on the line, or an edge that was answered already. */
	if (!(status & uio->layout->irq_zones))
		return IRQ_NONE;
	/* The status stays for the owner to read. */
	bwmon_uio_mask(uio);
	return IRQ_WAKE_THREAD;
}

static void bwmon_uio_notify(struct bwmon_uio *uio)
{
	mutex_lock(&uio->lock);
	if (uio->live)
		uio_event_notify(&uio->info);
	mutex_unlock(&uio->lock);
}

static irqreturn_t bwmon_uio_thread(int irq, void *data)
{
	bwmon_uio_notify(data);
	return IRQ_HANDLED;
}

/*
 * Programs written for uio_pdrv_genirq write 1 when they have answered. The
 * block itself is unmasked by its owner, whose last write to it does that.
 */
static int bwmon_uio_irqcontrol(struct uio_info *info, s32 on)
{
	if (!on)
		bwmon_uio_mask(info->priv);
	return 0;
}

/* One owner at a time: two would program one block. */
static int bwmon_uio_open(struct uio_info *info, struct inode *inode)
{
	struct bwmon_uio *uio = info->priv;
	int ret = 0;

	mutex_lock(&uio->lock);
	if (uio->owner) {
		ret = -EBUSY;
	} else {
		ihold(inode);
		uio->owner = inode;
	}
	mutex_unlock(&uio->lock);
	return ret;
}

static int bwmon_uio_release(struct uio_info *info, struct inode *inode)
{
	struct bwmon_uio *uio = info->priv;

	mutex_lock(&uio->lock);
	bwmon_uio_mask(uio);
	uio->owner = NULL;
	iput(inode);
	mutex_unlock(&uio->lock);
	return 0;
}

/*
 * Takes the block from whoever has it open: a mapping of it faults from now
 * on, so that the next driver has the block to itself.
 */
static void bwmon_uio_del(void *data)
{
	struct bwmon_uio *uio = data;

	mutex_lock(&uio->lock);
	uio->live = false;
	mutex_unlock(&uio->lock);
	/* No new mapping after this, and no call of ours under way. */
	uio_unregister_device(&uio->info);
	if (uio->owner) {
		unmap_mapping_range(uio->owner->i_mapping, 0, 0, 1);
		iput(uio->owner);
		uio->owner = NULL;
	}
	bwmon_uio_mask(uio);
}

static int bwmon_uio_map(struct bwmon_uio *uio, struct platform_device *pdev)
{
	void __iomem *base[2];
	unsigned int i;

	for (i = 0; i < uio->layout->regions; i++) {
		struct uio_mem *mem = &uio->info.mem[i];
		struct resource *res;

		base[i] = devm_platform_get_and_ioremap_resource(pdev, i, &res);
		if (IS_ERR(base[i]))
			return PTR_ERR(base[i]);
		/* Whole pages can be mapped, also those of its neighbours. */
		mem->memtype = UIO_MEM_PHYS;
		mem->addr = res->start & PAGE_MASK;
		mem->offs = res->start & ~PAGE_MASK;
		mem->size = PAGE_ALIGN(mem->offs + resource_size(res));
		mem->name = i ? "global" : "monitor";
	}
	uio->base = base[0];
	uio->global = base[uio->layout->regions - 1];
	return 0;
}

/* Without its interrupt a block can still be polled. */
static void bwmon_uio_request_irq(struct bwmon_uio *uio, int irq)
{
	int ret = irq;

	/* The flags are icc-bwmon's: only so do both fit on one line. */
	if (irq > 0)
		ret = devm_request_threaded_irq(uio->dev, irq, bwmon_uio_irq,
						bwmon_uio_thread,
						IRQF_ONESHOT | IRQF_SHARED,
						dev_name(uio->dev), uio);
	uio->has_irq = irq > 0 && !ret;
	if (!uio->has_irq)
		dev_warn(uio->dev, "no interrupt: error %d\n", ret);
}

static int bwmon_uio_register(struct bwmon_uio *uio, struct platform_device *pdev)
{
	int ret;

	ret = bwmon_uio_map(uio, pdev);
	if (ret)
		return ret;
	/* Whatever the one before left: nobody would answer it. */
	bwmon_uio_mask(uio);
	/* Before UIO, so that it is freed after it; until then nobody is told. */
	bwmon_uio_request_irq(uio, platform_get_irq_optional(pdev, 0));

	uio->info.name = "bwmon";
	uio->info.version = "1";
	uio->info.irq = uio->has_irq ? UIO_IRQ_CUSTOM : UIO_IRQ_NONE;
	uio->info.priv = uio;
	uio->info.open = bwmon_uio_open;
	uio->info.release = bwmon_uio_release;
	uio->info.irqcontrol = bwmon_uio_irqcontrol;
	ret = uio_register_device(uio->dev, &uio->info);
	if (ret)
		return ret;
	mutex_lock(&uio->lock);
	uio->live = true;
	mutex_unlock(&uio->lock);
	return devm_add_action_or_reset(uio->dev, bwmon_uio_del, uio);
}

/**
 * bwmon_uio_add - offers the block of a device to user space
 * @pdev: the device
 *
 * Return: what the other functions here want; NULL where there is no block, or
 * where it could not be had, which is said.
 */
struct bwmon_uio *bwmon_uio_add(struct platform_device *pdev)
{
	const struct of_device_id *match;
	struct device *dev = &pdev->dev;
	struct bwmon_uio *uio;
	int ret;

	match = of_match_node(bwmon_layouts, dev->of_node);
	if (!match)
		return NULL;
	if (!devres_open_group(dev, bwmon_uio_add, GFP_KERNEL))
		return NULL;
	uio = devm_kzalloc(dev, sizeof(*uio), GFP_KERNEL);
	if (!uio) {
		ret = -ENOMEM;
		goto release;
	}
	uio->dev = dev;
	uio->layout = match->data;
	mutex_init(&uio->lock);
	ret = bwmon_uio_register(uio, pdev);
	if (ret)
		goto release;
	devres_close_group(dev, bwmon_uio_add);
	return uio;

release:
	/* Whatever it had is free again for others. */
	devres_release_group(dev, bwmon_uio_add);
	dev_warn(dev, "no registers for user space: error %d\n", ret);
	return NULL;
}

/**
 * bwmon_uio_suspend - silences the block before it may lose its state
 * @uio: from bwmon_uio_add(), may be NULL
 */
void bwmon_uio_suspend(struct bwmon_uio *uio)
{
	if (uio)
		bwmon_uio_mask(uio);
}

/**
 * bwmon_uio_resume - wakes the block's owner, which has to program it anew
 * @uio: from bwmon_uio_add(), may be NULL
 */
void bwmon_uio_resume(struct bwmon_uio *uio)
{
	if (uio)
		bwmon_uio_notify(uio);
}
