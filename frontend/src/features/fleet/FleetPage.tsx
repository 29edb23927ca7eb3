import { PageHeader } from '@/components/PageHeader';
export function FleetPage() {
  return <PageHeader title="Fleet" />;
}
