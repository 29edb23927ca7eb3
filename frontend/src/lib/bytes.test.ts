import { expect, test } from 'vitest';
import { formatBytes, parseBytes } from './bytes';

test.each([
  ['503316480', '480 MiB'],
  ['0', '0 B'],
  ['1023', '1023 B'],
  ['8117488189', '7.56 GiB'],
  ['10485760000', '9.77 GiB'],
  ['18446744073709551615', '16 EiB'],
  ['-1048576', '-1 MiB'],
  ['OFF', 'OFF'],
])('%s bytes read as %s', (value, text) => {
  expect(formatBytes(value)).toBe(text);
});

test.each([
  ['480M', 503316480n],
  ['480 MiB', 503316480n],
  ['1.5 GiB', 1610612736n],
  ['2kb', 2048n],
  ['503316480', undefined],
  ['fast', undefined],
])('%s is understood as %s', (text, bytes) => {
  expect(parseBytes(text)).toBe(bytes);
});
