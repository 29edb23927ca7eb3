// A fleet of 10 000 instances, put into the database of the stack: nobody has so many servers to add.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from './console';
import { BACKEND, PYTHON } from './session';

const COUNT = 10_000;
const RUN_DIR = process.env.FQC_E2E_RUN_DIR;

async function inDatabase(code: string): Promise<void> {
  const env = { ...process.env, FQC_RUN_DIR: RUN_DIR, DJANGO_SETTINGS_MODULE: 'config.settings' };
  const lines = ['from controlplane.fleet.models import Instance, InstanceClass', code].join('\n');
  await promisify(execFile)(PYTHON, ['manage.py', 'shell', '-c', lines], { cwd: BACKEND, env });
}

test.skip(!RUN_DIR, 'FQC_E2E_RUN_DIR does not say where the stack runs.');

test.afterEach(() => inDatabase('Instance.objects.filter(name__startswith="crowd-").delete()'));

test('of a table of 10 000 instances only the rows in view exist, wherever it is scrolled and however sorted', async ({
  page,
}) => {
  // Stopped instances are asked nothing.
  await inDatabase(`
size = InstanceClass.objects.first()
fleet = [
    Instance(name=f"crowd-{n:05}", provider="external", host="db.example", port=3306, username="fqc", instance_class=size, state="stopped")
    for n in range(${COUNT})
]
Instance.objects.bulk_create(fleet, batch_size=1000)`);
  await page.goto('/fleet?search=crowd-');
  const table = page.getByRole('table', { name: 'Instances' });
  const scroller = table.locator('xpath=..');
  const drawn = table.locator('tbody tr');
  const end = table.getByRole('link', { name: 'crowd-09999' });
  await expect(table.getByRole('link', { name: 'crowd-00000' })).toBeVisible();
  await expect(async () => {
    await scroller.evaluate((element) => element.scrollTo(0, element.scrollHeight));
    expect(await drawn.count()).toBeLessThan(100);
    await expect(end).toBeVisible({ timeout: 50 });
  }).toPass();
  await expect(table).toHaveAttribute('aria-rowcount', String(COUNT + 1));

  await scroller.evaluate((element) => element.scrollTo(0, element.scrollHeight / 2));
  await expect(table.getByRole('link', { name: /^crowd-0[45]\d\d\d$/ }).first()).toBeVisible();
  await expect(end).toBeHidden();
  await page.getByRole('checkbox', { name: 'Select all' }).check();
  await expect(page.getByText('10,000 instances selected')).toBeVisible();
  expect(await drawn.count()).toBeLessThan(100);
});
