// A real server with an application that sends reads: the effect of the cache appears in the console without a reload.
import type { Locator, Page } from '@playwright/test';
import { expectAccessible } from './accessible';
import { whileReading, type Api } from './fleet';
import { expect, test, type Instance } from './console';
import { stack } from './session';

test.beforeEach(({ afterwards, instances: [first] }) => {
  afterwards((api) => api.change(first.id, 'cache/disable'));
});

/** The reads per second that the fleet's caches answered in the past hour, as the fleet page shows them. */
async function fleetServed(api: Api): Promise<number> {
  const { series } = await api.get<{ series: { name: string; whole: number | null }[] }>('fleet/headlines');
  return series.find(({ name }) => name === 'served_per_second')?.whole ?? 0;
}

test('after enabling in the guided flow the first hits arrive by themselves', async ({
  page,
  api,
  instances: [first],
}) => {
  // A restart sets the server's counters to 0.
  await api.change(first.id, 'restart');
  await page.goto(`/instances/${first.id}/cache?step=4`);
  await page.getByRole('button', { name: 'Enable Fast Query Cache' }).click();
  await expect(page.getByRole('region', { name: 'Enable the cache' })).toContainText('applied');
  const now = page.getByRole('region', { name: 'Current effect' });
  await expect(now).toContainText('No read was answered from the cache yet');

  await whileReading(stack.server(first.id), async () => {
    await expect(now).not.toContainText('No read was answered from the cache yet');
    const served = page.getByRole('group', { name: 'Served from caches, past hour' });
    await expect(served).toContainText(/[1-9].*\/s/);
    await expect(page.getByRole('group', { name: 'Reads from caches, past hour' })).toContainText(/[1-9].*%/);
    await expect(now.getByRole('img').locator('path.recharts-area-area').first()).toBeAttached();

    // The page polls once a minute, so it is opened only when there is something to show.
    await expect.poll(() => fleetServed(api), { timeout: 300_000 }).toBeGreaterThan(0);
    await page.goto('/fleet');
    await expect(page.getByRole('group', { name: 'Instances', exact: true })).toContainText(/\d running/);
    await expect(page.getByRole('group', { name: 'Served from caches, past hour' })).toContainText(
      /[1-9].*\/s/,
    );
    await expect(page.getByRole('group', { name: 'Reads from caches, past hour' })).toContainText(/[1-9].*%/);
    const saved = page.getByRole('group', { name: 'Server time saved, past hour' });
    await expect(saved).toContainText(/[1-9][\d.]*\s%/);
    await expect(saved).toContainText('of a core');
  });
});

const BLOCK_BYTES = 1024;

/** Expects that the page reviews a change of the cache's size to `size`, without applying it. */
async function expectPrepared(page: Page, instance: Instance, size: number): Promise<void> {
  const review = page.getByRole('dialog', { name: `Review changes to ${instance.name}` });
  await expect(review.getByText('query_cache_size', { exact: true })).toBeVisible();
  await expect(review).toContainText(String(size));
}

/**
 * The centre of a drawn element in pixels of the page. Waits until the chart fills its panel, because elements move
 * until then.
 */
async function centreOf(drawn: Locator, panel: Locator): Promise<{ x: number; y: number }> {
  const widthOf = async (part: Locator) => (await part.boundingBox())?.width ?? 0;
  const beside = async () =>
    (await widthOf(panel)) - (await widthOf(panel.locator('svg.recharts-surface').first()));
  await expect.poll(beside).toBeLessThan(60);
  const boxOf = async () => {
    const box = await drawn.boundingBox();
    if (!box) throw new Error('It is being drawn anew.');
    return box;
  };
  let box = { x: 0, y: 0, width: 0, height: 0 };
  await expect(async () => {
    box = await boxOf();
  }).toPass();
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

/**
 * True if `part` lies within the left and right edges of `whole`, up to 2 pixels. False if one of them is not visible.
 */
async function isWithin(part: Locator, whole: Locator): Promise<boolean> {
  const [inner, outer] = [await part.boundingBox(), await whole.boundingBox()];
  if (!inner || !outer) return false;
  return inner.x > outer.x - 2 && inner.x + inner.width < outer.x + outer.width + 2;
}

/**
 * Scrolls a table to its last column by keyboard on a phone, and expects that the first column stays visible and
 * uncovered. `words` is a text of a cell in the first column.
 */
async function expectFirstColumnToStay(page: Page, table: Locator, words: string): Promise<void> {
  const scroller = table.locator('..');
  const first = table.getByRole('cell', { name: words }).first();
  // The table fits on wider screens.
  await page.setViewportSize({ width: 390, height: 900 });
  await expect(scroller).toHaveAttribute('data-beyond');
  await expect(scroller).not.toHaveAttribute('data-before');
  await scroller.focus();
  while ((await scroller.getAttribute('data-beyond')) !== null) await page.keyboard.press('ArrowRight');
  await expect(scroller).toHaveAttribute('data-before');
  for (const part of [table.getByRole('columnheader').last(), first])
    await expect.poll(() => isWithin(part, scroller)).toBe(true);
  // Checked last, since the trial click scrolls the element into view.
  await first.click({ trial: true });
}

test('a point of the predicted curve, or its button, leads to a prepared change', async ({
  page,
  api,
  instances: [first],
}) => {
  interface Advice {
    curve: { size_bytes: number }[];
  }
  const curveOf = async () => (await api.get<Advice>(`instances/${first.id}/cache/advice`)).curve;
  const curve = page.getByRole('region', { name: 'Predicted hit ratio by cache size' });
  const dots = curve.locator('.recharts-line-dot');
  const buttons = curve.getByRole('button');
  await api.change(first.id, 'cache/enable');
  await whileReading(stack.server(first.id), async () => {
    await expect.poll(async () => (await curveOf()).length).toBeGreaterThan(4);
  });
  const sizes = (await curveOf()).map(({ size_bytes }) => Math.floor(size_bytes / BLOCK_BYTES) * BLOCK_BYTES);

  await page.goto(`/instances/${first.id}/queries`);
  const statements = page.getByRole('region', { name: 'Statements by time saved and by waste' });
  await expect(statements).toContainText('SELECT name, price_cents, stock FROM product');
  const isCutOff = (table: HTMLElement) => table.scrollWidth > (table.parentElement?.clientWidth ?? 0);
  expect(await statements.getByRole('table').evaluate(isCutOff), 'figures beyond the edge').toBe(false);
  await expectFirstColumnToStay(page, statements.getByRole('table'), 'SELECT name, price_cents');
  await expectAccessible(page);
  await page.setViewportSize({ width: 1440, height: 900 });
  await expect(page.getByRole('region', { name: 'Tables by reads and writes' })).toContainText(
    'demo.product',
  );
  await page.goto(`/instances/${first.id}/cache`);
  await expect(dots).toHaveCount(sizes.length);
  await expect(curve).toContainText(/now \d/);
  // By keyboard, without a pointer over the chart.
  await buttons.nth(1).focus();
  await page.keyboard.press('Enter');
  await expectPrepared(page, first, sizes[1] ?? 0);
  await page.getByRole('button', { name: 'Back to editing' }).click();
  await page.getByRole('button', { name: 'Discard', exact: true }).click();

  await page.goto(`/instances/${first.id}/cache`);
  await expect(dots).toHaveCount(sizes.length);
  // Pressed at once, as a finger does: the chart has not seen the pointer move before.
  // Each new curve replaces the dots, also while one is being scrolled to.
  await expect(() => dots.nth(4).scrollIntoViewIfNeeded()).toPass();
  const { x, y } = await centreOf(dots.nth(4), curve);
  await page.mouse.click(x, y);
  await expectPrepared(page, first, sizes[4] ?? 0);
  await page.getByRole('button', { name: 'Apply now' }).click();
  await expect(page.getByRole('region', { name: /^Parameters on/ })).toContainText('applied');
  const now = await api.get<{ size_bytes: number }>(`instances/${first.id}/cache/status`);
  expect(now.size_bytes).toBe(sizes[4]);
});
