// A fleet of 10 000 instances, written directly to the database of the stack, since so many servers are not available.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { BACKEND, PYTHON } from './session';

export const COUNT = 10_000;
export const RUN_DIR = process.env.FQC_E2E_RUN_DIR;

/** Runs Python code in the control plane's Django shell, with the instances of the crowd as `crowd`. */
async function inDatabase(code: string): Promise<void> {
  const env = { ...process.env, FQC_RUN_DIR: RUN_DIR, DJANGO_SETTINGS_MODULE: 'config.settings' };
  const head = `
import time
from django.utils import timezone
from controlplane.fleet.models import Instance, InstanceClass
from controlplane.metrics.models import Sample
crowd = Instance.objects.filter(name__startswith="crowd-")`;
  await promisify(execFile)(PYTHON, ['manage.py', 'shell', '-c', head + code], { cwd: BACKEND, env });
}

/**
 * Adds 10 000 stopped instances, named `crowd-…`, to the control plane's database. Their address cannot be reached, but
 * the control plane only checks now and then whether a stopped server is back.
 */
export function addCrowd(): Promise<void> {
  return inDatabase(`
size = InstanceClass.objects.first()
fleet = [
    Instance(name=f"crowd-{n:05}", provider="external", host="db.example", port=3306, username="fqc", instance_class=size, state="stopped", last_seen_at=timezone.now())
    for n in range(${COUNT})
]
Instance.objects.bulk_create(fleet, batch_size=1000)`);
}

/** Adds samples of the past hour for each instance of the crowd, so that every row has a line to draw. */
export function addFigures(): Promise<void> {
  return inDatabase(`
now = int(time.time()) // 60 * 60
Sample.objects.bulk_create(
    [
        Sample(instance_id=id, at=now - 300 * step, seconds=15, hits=100 + (place * 7 + step * 31) % 900, lookups=1000)
        for place, id in enumerate(crowd.values_list("id", flat=True))
        for step in range(10)
    ],
    batch_size=1000,
)`);
}

/** Removes the instances of the crowd and their samples from the database. */
export function removeCrowd(): Promise<void> {
  return inDatabase(`
Sample.objects.filter(instance_id__in=crowd.values("id")).delete()
crowd.delete()`);
}
