import { TextLink } from './links';

/** To an instance, by its name; one that is gone has only the name left. */
export function InstanceLink({ id, name }: { id: string | null; name: string }) {
  if (!id) return name;
  return (
    <TextLink to="/instances/$instanceId" params={{ instanceId: id }} style={{ whiteSpace: 'nowrap' }}>
      {name}
    </TextLink>
  );
}
