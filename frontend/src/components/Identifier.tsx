import { Breakable } from './Breakable';
import classes from './Identifier.module.css';

/** A name of the server, such as that of a variable, in its own spelling. */
export function Identifier({ name }: { name: string }) {
  return (
    <code className={classes.identifier}>
      <Breakable name={name} />
    </code>
  );
}
