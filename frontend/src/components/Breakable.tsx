import { Fragment } from 'react';

/** A name such as `demo.order_item` that may wrap after its dots and underscores, but not elsewhere. */
export function Breakable({ name }: { name: string }) {
  return name.split(/(?<=[._])/).map((part, index) => (
    <Fragment key={index}>
      {part}
      <wbr />
    </Fragment>
  ));
}
