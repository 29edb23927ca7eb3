import { TextLink } from './links';

/** A link to an instance by name; only the name if the instance has been deleted. */
export function InstanceLink({ id, name }: { id: string | null; name: string }) {
  if (!id) return name;
  return (
    <TextLink to="/instances/$instanceId" params={{ instanceId: id }} style={{ whiteSpace: 'nowrap' }}>
      {name}
    </TextLink>
  );
}
