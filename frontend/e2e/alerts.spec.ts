import { expectAccessible, expectToFitPhone } from './accessible';
import { expect, test } from './console';
import { refusal, refuse } from './refusal';

test('a rule shows where it would have fired, is kept, and removed', async ({ page }) => {
  const name = `e2e rule ${Date.now()}`;
  await page.goto('/alerts?tab=rules');
  await page.getByRole('button', { name: 'New rule' }).click();
  const form = page.getByRole('dialog');
  await form.getByLabel('Name').fill(name);
  await expect(form.getByText(/Would have fired \d+ times? in the past \d+ h/)).toBeVisible();
  await form.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('cell', { name, exact: true })).toBeVisible();
  await page.getByRole('button', { name: `Delete rule ${name}?` }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect(page.getByRole('cell', { name, exact: true })).toBeHidden();
});

test('a rule of all instances is overridden for one of them', async ({ page, instances: [first] }) => {
  const name = `e2e override ${Date.now()}`;
  await page.goto('/alerts?tab=rules');
  await page.getByRole('button', { name: 'New rule' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill(name);
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('cell', { name, exact: true })).toBeVisible();

  await page.goto(`/instances/${first.id}/alerts`);
  const row = page.getByRole('row').filter({ hasText: name });
  await page.getByRole('button', { name: `Override ${name} here` }).click();
  await page.getByRole('dialog').getByLabel('Custom threshold').fill('7');
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await expect(row).toContainText('below 7 %');
  await expect(row).toContainText('overridden');

  await page.goto('/alerts?tab=rules');
  await expect(row).toContainText('1 override');
  await page.getByRole('button', { name: `Delete rule ${name}?` }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await expect(row).toBeHidden();
});

test('an open incident is told at its instance in the fleet, on a phone too, acknowledged, and resolved with its rule', async ({
  page,
  api,
  instances: [first],
}) => {
  const name = `e2e incident ${Date.now()}`;
  const rule = await api.alwaysFiringRule(first.id, name, 'critical');
  await page.goto('/fleet');
  const row = page.getByRole('row').filter({ hasText: first.name });
  const told = row.getByRole('link', { name: /incident/ }); // rules that ship may have found another
  await expect(told).toBeInViewport();
  await expectToFitPhone(page);
  // The list begins below the fleet's figures, which fill the first screen of a phone.
  await row.evaluate((element) => element.scrollIntoView({ block: 'center', inline: 'nearest' }));
  await expect(told).toBeInViewport({ ratio: 1 });
  await told.click();
  await expect(page).toHaveURL(new RegExp(`/instances/${first.id}/alerts.*show=open`));
  const incidents = page.getByRole('region', { name: 'Incidents' });
  await incidents.getByRole('button', { name }).click();
  const incident = page.getByRole('dialog', { name: 'Incident' });
  await expect(incident).toContainText('Opened');
  await incident.getByRole('button', { name: 'Acknowledge' }).click();
  await expect(incident).toContainText('Acknowledged');
  await expectAccessible(page);
  await api.send('DELETE', `alert-rules/${rule}`);
  await page.goto(`/instances/${first.id}/alerts?show=open`);
  await expect(incidents).toBeVisible();
  await expect(incidents.getByRole('button', { name })).toBeHidden();
});

test('a silence is in force until it is ended, and an end that was refused says why', async ({ page }) => {
  const reason = `e2e silence ${Date.now()}`;
  await page.goto('/alerts?tab=silences');
  await page.getByRole('button', { name: 'New silence' }).click();
  await page.getByRole('dialog').getByLabel('Reason').fill(reason);
  await page.getByRole('dialog').getByLabel('Tags').fill('env:nowhere');
  await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
  const row = page.getByRole('row').filter({ hasText: reason });
  await expect(row).toContainText('active');
  await expect(row).toContainText('env:nowhere');
  const end = page.getByRole('button', { name: `End silence ${reason}` });
  const isEnding = ({ pathname }: URL) => /\/silences\/[^/]+/.test(pathname);
  await refuse(page, isEnding);
  await end.click();
  await expect(page.getByRole('alert')).toContainText(refusal.text);
  await page.unroute(isEnding);
  await end.click();
  await expect(row).toContainText('ended');
  await expect(page.getByRole('alert')).toHaveCount(0);
});
