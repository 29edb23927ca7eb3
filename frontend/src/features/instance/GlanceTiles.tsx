import { useQuery } from '@tanstack/react-query';
import { HEADLINES, instanceHeadlinesQuery } from '@/api/headlines';
import { HeadlineTile } from '@/charts/HeadlineTile';
import { StatTiles } from '@/components/StatTile';

export function GlanceTiles({ instanceId }: { instanceId: string }) {
  const query = useQuery(instanceHeadlinesQuery(instanceId));
  return (
    <StatTiles>
      {HEADLINES.map((name) => (
        <HeadlineTile key={name} name={name} query={query} />
      ))}
    </StatTiles>
  );
}
