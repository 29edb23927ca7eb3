import { Breakable } from './Breakable';
import classes from './Identifier.module.css';

/** A name as the server writes it. */
export function Identifier({ name }: { name: string }) {
  return (
    <code className={classes.identifier}>
      <Breakable name={name} />
    </code>
  );
}
