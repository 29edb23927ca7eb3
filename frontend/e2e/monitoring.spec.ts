import { readFile } from 'node:fs/promises';
import type { Download, Locator, Page } from '@playwright/test';
import { expect, test } from './console';

const STATEMENTS = 'Statements';

function panelOf(page: Page, title: string): Locator {
  return page.getByRole('region', { name: title, exact: true });
}

/**
 * Opens the monitoring page, with `search` as its query string, and returns the panel of the chart of statements once
 * it has samples. Every server is polled all the time, so that is soon.
 */
async function openMonitoring(page: Page, instanceId: string, search = 'range=15m'): Promise<Locator> {
  await page.goto(`/instances/${instanceId}/monitoring?${search}`);
  const panel = panelOf(page, STATEMENTS);
  await expect(async () => {
    await page.reload();
    await expect(panel.locator('path.recharts-line-curve').first()).toBeVisible();
  }).toPass();
  return panel;
}

/**
 * Opens the monitoring page like `openMonitoring`, with a clock that stands still, so that the charts do not move on
 * while a test drags on them.
 */
async function openStill(page: Page, instanceId: string): Promise<Locator> {
  const panel = await openMonitoring(page, instanceId);
  await page.clock.setFixedTime(new Date());
  await page.reload();
  await expect(panel.locator('path.recharts-line-curve').first()).toBeVisible();
  await panel.scrollIntoViewIfNeeded();
  return panel;
}

/** The box, in pixels of the page, of the area of a chart in which a span can be selected by dragging. */
async function gridOf(panel: Locator) {
  const box = await panel.locator('.recharts-cartesian-grid').boundingBox();
  if (!box) throw new Error('The chart has no grid to drag on.');
  return box;
}

async function exported(page: Page, panel: Locator, item: string): Promise<Download> {
  await panel.getByRole('button', { name: `Export ${STATEMENTS}` }).click();
  const download = page.waitForEvent('download');
  await page.getByRole('menuitem', { name: item }).click();
  return download;
}

test('a chart is exported as the figures that it draws', async ({ page, instances: [first] }) => {
  const panel = await openMonitoring(page, first.id);
  const file = await exported(page, panel, 'Data (CSV)');
  expect(file.suggestedFilename()).toBe(`${first.name}-statements.csv`);
  const [head, ...lines] = (await readFile(await file.path(), 'utf8')).trim().split('\n');
  expect(head).toBe('time_utc,Statements,All reads,Writes');
  expect(lines.length).toBeGreaterThan(1);
  const rows = lines.map((line) => line.split(','));
  const moments = rows.map(([at]) => Date.parse(at ?? ''));
  expect(moments.every((moment) => Number.isFinite(moment))).toBe(true);
  expect(moments).toEqual([...moments].sort((a, b) => a - b));
  expect(rows.every((row) => row.length === 4)).toBe(true);
  expect(rows.some((row) => Number(row[1]) > 0)).toBe(true);
});

test('a chart is exported as a picture, with a heading, in the colours of the page', async ({
  page,
  instances: [first],
}) => {
  await page.emulateMedia({ colorScheme: 'dark' });
  const panel = await openMonitoring(page, first.id);
  const drawn = await panel.locator('svg.recharts-surface').first().boundingBox();
  const file = await exported(page, panel, 'Image (PNG)');
  expect(file.suggestedFilename()).toBe(`${first.name}-statements.png`);
  const picture = await readFile(await file.path());
  expect(picture.subarray(1, 4).toString()).toBe('PNG');
  const { width, height, colours } = await page.evaluate(async (base64) => {
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes]));
    const canvas = new OffscreenCanvas(image.width, image.height);
    const context = canvas.getContext('2d');
    context?.drawImage(image, 0, 0);
    const pixels = new Uint32Array(
      context?.getImageData(0, 0, image.width, image.height).data.buffer ?? new ArrayBuffer(0),
    );
    const hex = (pixel: number) =>
      [pixel & 255, (pixel >> 8) & 255, (pixel >> 16) & 255]
        .map((part) => part.toString(16).padStart(2, '0'))
        .join('');
    const colours = [...new Set(pixels)].map(hex);
    return { width: image.width, height: image.height, colours };
  }, picture.toString('base64'));
  expect(width).toBe(Math.floor((drawn?.width ?? 0) * 2));
  // The image's height beyond the chart, title, instance and range. That is the legend, with as many lines as there are
  // marks of different kinds in this range.
  const more = height - Math.floor((drawn?.height ?? 0) * 2) - 2 * 68;
  expect(more % (2 * 18)).toBe(0);
  expect(more).toBeGreaterThanOrEqual(0);
  const [surface, line] = await page.evaluate(() =>
    ['--fqc-surface', '--fqc-series-1'].map((name) =>
      getComputedStyle(document.documentElement).getPropertyValue(name).trim().slice(1),
    ),
  );
  expect(colours).toContain(surface);
  expect(colours).toContain(line);
});

test('a drag zooms every chart, the address keeps the span, and one click leads back', async ({
  page,
  instances: [first],
}) => {
  const panel = await openStill(page, first.id);
  const grid = await gridOf(panel);
  const y = grid.y + grid.height / 2;
  // From a part without samples to a point beyond the end of the chart.
  await page.mouse.move(grid.x + grid.width * 0.3, y);
  await page.mouse.down();
  await page.mouse.move(grid.x + grid.width * 0.8, y, { steps: 5 });
  await page.mouse.move(grid.x + grid.width + 100, y, { steps: 5 });
  await page.mouse.up();
  await expect(page).toHaveURL(/from=\d+.*to=\d+/);
  const { searchParams } = new URL(page.url());
  const span = Number(searchParams.get('to')) - Number(searchParams.get('from'));
  expect(span / (15 * 60_000)).toBeCloseTo(0.7, 1);
  const reset = page.getByRole('button', { name: 'Reset zoom' });
  await expect(reset).toBeVisible();
  await page.reload();
  await reset.click();
  await expect(page).not.toHaveURL(/from=/);
  await expect(page.getByRole('button', { name: 'Live' })).toBeVisible();
});

test('a zoom leaves nothing behind of what was told under the pointer', async ({
  page,
  instances: [first],
}) => {
  const panel = await openMonitoring(page, first.id);
  await panel.scrollIntoViewIfNeeded();
  const grid = await gridOf(panel);
  const y = grid.y + grid.height / 2;
  const cursor = panel.locator('.recharts-tooltip-cursor');
  const ticks = async () => (await panel.locator('.recharts-xAxis-tick-labels').allTextContents()).join();
  const before = await ticks();
  expect(before).not.toBe('');
  await page.mouse.move(grid.x + grid.width * 0.5, y);
  await page.mouse.down();
  await page.mouse.move(grid.x + grid.width * 0.98, y, { steps: 5 });
  await expect(cursor).toBeAttached();
  await page.mouse.up();
  await expect.poll(ticks).not.toBe(before);
  // Returns how far the line is from the dots: they must be at the same place, unless the line is hidden until the
  // pointer moves. Both are read in one step, since a live chart moves.
  const distance = () =>
    panel.evaluate((chart) => {
      const [line, dot] = ['.recharts-tooltip-cursor', '.recharts-active-dot'].map((shape) => {
        const box = chart.querySelector(shape)?.getBoundingClientRect();
        return box && box.x + box.width / 2;
      });
      return line === undefined ? 0 : Math.abs(line - (dot ?? NaN));
    });
  await expect.poll(distance).toBeLessThan(2);
});

test('a chart that is drawn anew during a drag zooms to what was pressed', async ({
  page,
  instances: [first],
}) => {
  const panel = await openStill(page, first.id);
  const placeAt = async (share: number) => {
    const box = await gridOf(panel);
    return [box.x + box.width * share, box.y + box.height / 2] as const;
  };
  await page.mouse.move(...(await placeAt(0.3)));
  await page.mouse.down();
  await page.mouse.move(...(await placeAt(0.5)), { steps: 3 });
  const before = (await gridOf(panel)).width;
  await page.setViewportSize({ width: 1200, height: 900 });
  // The layout follows in several steps, so the chart has its size when two readings agree.
  let last = before;
  await expect
    .poll(async () => {
      const { width } = await gridOf(panel);
      const isStill = width === last;
      last = width;
      return isStill ? width : before;
    })
    .toBeLessThan(before * 0.9);
  await page.mouse.move(...(await placeAt(0.8)), { steps: 3 });
  await page.mouse.up();
  await expect(page).toHaveURL(/from=\d+.*to=\d+/);
  const { searchParams } = new URL(page.url());
  const span = Number(searchParams.get('to')) - Number(searchParams.get('from'));
  expect(span / (15 * 60_000)).toBeCloseTo(0.5, 1);
});

const isMetrics = (url: URL) => url.pathname.endsWith('/metrics');

test('live mode draws what is told, and asks for no figures', async ({
  page,
  instances: [first, second],
}) => {
  const panel = await openMonitoring(page, first.id, `range=15m&compare=${second.id}`);
  const lines = panel.locator('path.recharts-line-curve');
  const heard = page.waitForResponse((answer) => answer.url().includes('/events?topic=samples'));
  await page.getByRole('button', { name: 'Live' }).click();
  await expect(page).toHaveURL(/live=true/);
  await expect(page.getByRole('button', { name: 'Live' })).toHaveAttribute('aria-pressed', 'true');
  expect((await heard).url()).toContain(`instances=${first.id}%2C${second.id}`);
  // Requests for figures are no longer answered, so everything drawn from now on comes from pushed events.
  await page.route(isMetrics, () => undefined);
  const drawn = () => lines.evaluateAll((all) => all.map((line) => line.getAttribute('d')).join());
  for (const round of ['first', 'second']) {
    const before = await drawn();
    await expect.poll(drawn, `the ${round} round is drawn`).not.toBe(before);
  }
});

test('live mode asks again and again where events are refused', async ({ page, instances: [first] }) => {
  await openMonitoring(page, first.id);
  await page.route('**/api/v1/events?topic=samples**', (route) => route.fulfill({ status: 503 }));
  await page.getByRole('button', { name: 'Live' }).click();
  const asked = () => page.waitForRequest((request) => isMetrics(new URL(request.url())));
  const [former, later] = [await asked(), await asked()].map((request) =>
    Date.parse(new URL(request.url()).searchParams.get('to') ?? ''),
  );
  expect(later).toBeGreaterThan(former ?? Infinity);
});

test('two instances are compared in the same charts', async ({ page, instances: [first, second] }) => {
  await openMonitoring(page, second.id);
  const panel = await openMonitoring(page, first.id);
  await page.getByRole('combobox', { name: 'Compare with' }).click();
  await page.getByRole('option', { name: second.name }).click();
  await expect(page).toHaveURL(new RegExp(`compare=${second.id}`));
  await expect(panel.getByText(`Statements, ${second.name}`)).toBeVisible();
  await expect(panel.locator('path.recharts-line-curve')).toHaveCount(6);
  await page.reload();
  await expect(panel.getByText(`Statements, ${second.name}`)).toBeVisible();
});

test('an instance is compared with itself in the period before, and the address says so', async ({
  page,
  instances: [first],
}) => {
  const panel = await openMonitoring(page, first.id);
  await page.getByRole('button', { name: 'Previous period' }).click();
  await expect(page).toHaveURL(/previous=true/);
  await expect(panel.getByText('Statements, previous period')).toBeVisible();
  await expect(panel.locator('path.recharts-line-curve')).toHaveCount(6);
  await page.reload();
  await expect(panel.getByText('Statements, previous period')).toBeVisible();
  await page.getByRole('button', { name: 'Previous period' }).click();
  await expect(panel.getByText('Statements, previous period')).toBeHidden();
});

test('dates of one’s own are shown, and a range that ends before it begins is not', async ({
  page,
  instances: [first],
}) => {
  await openMonitoring(page, first.id);
  await page.getByRole('button', { name: 'Custom' }).click();
  const show = page.getByRole('button', { name: 'Show' });
  await page.getByLabel('From', { exact: true }).fill('2026-03-02T08:00');
  await page.getByLabel('To', { exact: true }).fill('2026-03-01T08:00');
  await expect(page.getByText('The end must be after the start.')).toBeVisible();
  await expect(show).toBeDisabled();
  await page.getByLabel('To', { exact: true }).fill('2026-03-03T09:30');
  await show.click();
  const moments = await page.evaluate(() =>
    ['2026-03-02T08:00', '2026-03-03T09:30'].map((text) => Date.parse(text)),
  );
  await expect(page).toHaveURL(new RegExp(`from=${moments[0]}.*to=${moments[1]}`));
  await expect(page.getByRole('button', { name: 'Reset zoom' })).toBeVisible();
});

test('connections, slow statements and page reads are charted', async ({ page, instances: [first] }) => {
  await openMonitoring(page, first.id);
  for (const title of ['Connections', 'Slow statements', 'Page reads from disk'])
    await expect(panelOf(page, title).locator('path.recharts-line-curve').first()).toBeAttached();
});

test('a formula is told on hover and on focus', async ({ page, instances: [first] }) => {
  await openMonitoring(page, first.id);
  const panel = panelOf(page, 'Reads from caches');
  const formula = page.getByRole('tooltip').filter({ hasText: 'Reads from caches = ' });
  await panel.getByText('Reads from caches', { exact: true }).last().hover();
  await expect(formula).toBeVisible();
  await page.mouse.move(0, 0);
  await expect(formula).toBeHidden();
  await panel.getByText('Reads from caches', { exact: true }).last().focus();
  await expect(formula).toBeVisible();
});

test('the mark of a change leads to it, in the chart and by its link', async ({
  page,
  instances: [first],
}) => {
  const api = page.request;
  const path = `/api/v1/instances/${first.id}/changes?limit=50`;
  const { items } = (await (await api.get(path)).json()) as {
    items: { id: string; kind: string; state: string; finished_at: string | null }[];
  };
  const created = items.find(({ kind, state }) => kind === 'create' && state === 'applied');
  const finished = Date.parse(created?.finished_at ?? '');
  const span = `from=${finished - 60_000}&to=${finished + 120_000}`;

  await openMonitoring(page, first.id, span);
  const link = page.getByRole('navigation', { name: 'Changes in this range' }).getByRole('link');
  await expect(link.filter({ hasText: 'Create' })).toHaveAttribute('href', new RegExp(`${created?.id}$`));
  await panelOf(page, STATEMENTS).locator('[data-annotation="Create"]').click();
  await expect(page).toHaveURL(new RegExp(`/changes/${created?.id}$`));
  await expect(page.getByRole('heading', { name: `Create on ${first.name}` })).toBeVisible();
});

test('another range that is chosen offline is told as not answered', async ({
  page,
  context,
  instances: [first],
}) => {
  await page.goto(`/instances/${first.id}/monitoring?range=1h`);
  await expect(page.getByRole('img').first()).toBeVisible();
  await context.setOffline(true);
  await page.getByText('7 d', { exact: true }).click();
  await expect(page.getByRole('alert').first()).toBeVisible();
  await context.setOffline(false);
});
