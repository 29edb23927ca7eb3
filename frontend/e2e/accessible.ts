// Requirements of every page: no accessibility violations in either colour scheme, and no wider than a phone.
import { expect, type Page } from '@playwright/test';
import axe from 'axe-core';

declare global {
  interface Window {
    axe: typeof axe;
  }
}

// Rules that depend on the colour scheme. Only these are checked a second time, since the rest of the page is the same.
const OF_COLOURS = ['color-contrast', 'link-in-text-block'];
// The rule of axe that a control's name contains its visible label, since users of speech control say the words that
// they see. axe checks it only on request.
const OF_WORDS = { rules: { 'label-content-name-mismatch': { enabled: true } } };

/** Expects that axe finds no accessibility violation on the page, in the light and in the dark colour scheme. */
export async function expectAccessible(page: Page): Promise<void> {
  // Loaded once for both schemes, because the library is large.
  await page.evaluate(axe.source);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await expect(page.locator('html')).toHaveAttribute('data-mantine-color-scheme', colorScheme);
    const rules = colorScheme === 'light' ? OF_WORDS : { runOnly: OF_COLOURS };
    expect(await page.evaluate(violations, rules)).toEqual([]);
  }
}

async function violations(rules: axe.RunOptions): Promise<string[]> {
  const found = await window.axe.run({ ...rules, resultTypes: ['violations'] });
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
}

/**
 * Makes the window as wide as a phone, and expects that the page needs no horizontal scrolling. The window stays so.
 */
export async function expectToFitPhone(page: Page): Promise<void> {
  await page.setViewportSize({ width: 390, height: 844 });
  await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
}
