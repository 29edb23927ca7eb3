import { CopyLink } from './CopyLink';
import classes from './Statements.module.css';

/** SQL statements that a person has to run on the server, with a button that copies them. */
export function Statements({ lines }: { lines: string[] }) {
  const text = lines.join('\n');
  return (
    <div className={classes.place}>
      <pre className={classes.statements}>{text}</pre>
      <CopyLink value={text} />
    </div>
  );
}
