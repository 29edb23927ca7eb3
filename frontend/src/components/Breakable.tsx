import { Fragment } from 'react';

/** A name such as `demo.order_item` that may wrap after its dots and underscores, but not within a word. */
export function Breakable({ name }: { name: string }) {
  return name.split(/(?<=[._])/).map((part, index) => (
    <Fragment key={index}>
      {part}
      <wbr />
    </Fragment>
  ));
}
