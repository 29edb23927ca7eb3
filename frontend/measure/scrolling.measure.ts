// How long each frame takes while the table of 10 000 instances is scrolled, with a line drawn in every row.
import type { Locator, Page } from '@playwright/test';
import { expect, test } from '../e2e/console';
import { addCrowd, addFigures, COUNT, removeCrowd } from '../e2e/crowd';

const SLOW_MS = 50;

/** Runs `act`, and returns the duration in ms of every frame that the page drew while it ran. */
async function framesOf(page: Page, act: () => Promise<void>): Promise<number[]> {
  await page.evaluate(() => {
    const frames: number[] = [];
    let last: number | undefined;
    const next = (at: number) => {
      if (last !== undefined) frames.push(at - last);
      last = at;
      if (Object.is(Reflect.get(window, 'frames_'), frames)) requestAnimationFrame(next);
    };
    Reflect.set(window, 'frames_', frames);
    requestAnimationFrame(next);
  });
  await act();
  return page.evaluate(() => {
    const frames = Reflect.get(window, 'frames_') as number[];
    Reflect.set(window, 'frames_', undefined);
    return frames;
  });
}

function tell(what: string, frames: number[]): void {
  const sorted = [...frames].sort((a, b) => a - b);
  const at = (share: number) => (sorted[Math.floor((sorted.length - 1) * share)] ?? 0).toFixed(0);
  const slow = frames.filter((frame) => frame > SLOW_MS + 1).length;
  console.log(
    `${what}: ${frames.length} frames; ms median ${at(0.5)}, p95 ${at(0.95)}, p99 ${at(0.99)}, longest ${at(1)}; ` +
      `${slow} longer than ${SLOW_MS} ms`,
  );
}

async function allLoaded(table: Locator, scroller: Locator): Promise<void> {
  await expect(async () => {
    await scroller.evaluate((element) => element.scrollTo(0, element.scrollHeight));
    await expect(table).toHaveAttribute('aria-rowcount', String(COUNT + 1), { timeout: 100 });
  }).toPass();
  await scroller.evaluate((element) => element.scrollTo(0, 0));
  await expect(table.getByRole('link', { name: 'crowd-00000' })).toBeVisible();
  await expect(table.getByRole('row').nth(1)).toContainText('%');
}

const aFrame = (page: Page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(done)));

test.afterEach(() => removeCrowd());

test('scrolling', async ({ page }) => {
  await addCrowd();
  await addFigures();
  await page.goto('/fleet?search=crowd-');
  const table = page.getByRole('table', { name: 'Instances' });
  const scroller = table.locator('xpath=..');
  await allLoaded(table, scroller);
  await scroller.hover();

  const wheel = (by: number) => async () => {
    for (let turn = 0; turn < 200; turn++) {
      await page.mouse.wheel(0, by);
      await aFrame(page);
    }
  };
  tell('wheel, 2 notches a frame', await framesOf(page, wheel(240)));
  tell('wheel, flung', await framesOf(page, wheel(1500)));
  await scroller.focus();
  const pages = async () => {
    for (let turn = 0; turn < 40; turn++) {
      await page.keyboard.press('PageDown');
      await aFrame(page);
    }
  };
  tell('page down', await framesOf(page, pages));
  // Scrolls so far in each frame that all rows in view are new.
  const jumps = () =>
    scroller.evaluate(async (element) => {
      for (let turn = 0; turn < 120; turn++) {
        element.scrollTop = turn * 3500;
        await new Promise((done) => requestAnimationFrame(done));
      }
    });
  tell('scroll bar dragged from end to end in 120 frames', await framesOf(page, jumps));
});
