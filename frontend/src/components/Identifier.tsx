import { Fragment } from 'react';
import classes from './Identifier.module.css';

/** A name such as `demo.order_item`: in a narrow place it breaks after its dots and underscores, not within a word. */
export function Identifier({ name }: { name: string }) {
  const parts = name.split(/(?<=[._])/);
  return (
    <code className={classes.identifier}>
      {parts.map((part, index) => (
        <Fragment key={index}>
          {part}
          <wbr />
        </Fragment>
      ))}
    </code>
  );
}
