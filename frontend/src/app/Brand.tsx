import favicon from '@/components/favicon.svg?inline';
import { Link } from '@tanstack/react-router';
import classes from './Shell.module.css';

export function Brand() {
  return (
    <Link to="/fleet" className={classes.brand}>
      <img src={favicon} alt="" width={24} height={24} />
      Fast Query Cache
    </Link>
  );
}
