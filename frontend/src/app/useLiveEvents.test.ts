import { InfiniteQueryObserver, QueryClient } from '@tanstack/react-query';
import { expect, test, vi } from 'vitest';
import { pagedQuery, type Page } from '@/api/pages';
import { refetching } from './useLiveEvents';

test('a list that requests a further page gets it, however many events come, and is then asked for again', async () => {
  const asked: string[] = [];
  const answers = new Map<string, (page: Page<string>) => void>();
  const list = pagedQuery<string>(['instance', 'list'], (cursor = 'first') => {
    asked.push(cursor);
    return new Promise((resolve) => answers.set(cursor, resolve));
  });
  const answer = async (cursor: string, next: string | null) => {
    await vi.waitFor(() => expect(answers.has(cursor)).toBe(true));
    answers.get(cursor)?.({ items: [cursor], next });
    answers.delete(cursor);
  };
  const client = new QueryClient();
  const observer = new InfiniteQueryObserver(client, list);
  const leave = observer.subscribe(() => undefined);
  await answer('first', 'second');
  await vi.waitFor(() => expect(observer.getCurrentResult().hasNextPage).toBe(true));

  const grown = observer.fetchNextPage();
  refetching(client)(['instance']);
  await answer('second', null);
  expect((await grown).data).toEqual(['first', 'second']);
  await answer('first', 'second');
  await answer('second', null);
  expect(asked).toEqual(['first', 'second', 'first', 'second']);
  leave();
  client.clear();
});
