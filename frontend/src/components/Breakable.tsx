import { Fragment } from 'react';

/** A name such as `demo.order_item`: in a narrow place it breaks after its dots and underscores, not within a word. */
export function Breakable({ name }: { name: string }) {
  return name.split(/(?<=[._])/).map((part, index) => (
    <Fragment key={index}>
      {part}
      <wbr />
    </Fragment>
  ));
}
