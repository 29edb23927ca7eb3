import { Breakable } from './Breakable';
import classes from './Identifier.module.css';

/** A name as the server spells it, such as that of a variable or table, in the font of code. */
export function Identifier({ name }: { name: string }) {
  return (
    <code className={classes.identifier}>
      <Breakable name={name} />
    </code>
  );
}
