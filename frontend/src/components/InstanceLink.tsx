import { TextLink } from './links';

/** A link to the page of an instance. Only the name if `id` is null, because the instance has been deleted. */
export function InstanceLink({ id, name }: { id: string | null; name: string }) {
  if (!id) return name;
  return (
    <TextLink to="/instances/$instanceId" params={{ instanceId: id }} style={{ whiteSpace: 'nowrap' }}>
      {name}
    </TextLink>
  );
}
