import { Drawer, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { FactList } from '@/components/FactList';
import { Moment } from '@/components/Moment';
import { QueryView } from '@/components/QueryView';
import { useT } from '@/lib/i18n/context';
import { auditEventQuery, type AuditEvent } from './api';
import { auditDiff } from './auditDiff';
import classes from './AuditEventDrawer.module.css';

export function AuditEventDrawer({ id, onClose }: { id: string | undefined; onClose: () => void }) {
  const t = useT();
  return (
    <Drawer opened={id !== undefined} onClose={onClose} size={520} title={t('audit.event')}>
      {id && <EventDetails id={id} />}
    </Drawer>
  );
}

function EventDetails({ id }: { id: string }) {
  const query = useQuery(auditEventQuery(id));
  return <QueryView query={query}>{(event) => <EventFacts event={event} />}</QueryView>;
}

function EventFacts({ event }: { event: AuditEvent }) {
  const t = useT();
  const rows = auditDiff(event.before, event.after);
  const target = [event.target_type, event.target_name || event.target_id].filter(Boolean).join(' ');
  return (
    <Stack>
      <FactList
        facts={[
          { label: t('audit.action'), value: event.action },
          { label: t('audit.target'), value: target },
          { label: t('audit.actor'), value: event.actor },
          { label: t('audit.when'), value: <Moment at={event.created_at} isExact /> },
          { label: t('audit.address'), value: event.address || '–' },
          { label: t('audit.request'), value: <code>{event.request_id || '–'}</code> },
        ]}
      />
      {rows.length > 0 && <Diff rows={rows} />}
    </Stack>
  );
}

function Diff({ rows }: { rows: ReturnType<typeof auditDiff> }) {
  const t = useT();
  return (
    <table className={classes.diff}>
      <thead>
        <tr>
          <th>{t('audit.change')}</th>
          <th>{t('audit.before')}</th>
          <th>{t('audit.after')}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.field} data-changed={row.isChanged || undefined}>
            <td>{row.field}</td>
            <td>
              <RecordedValue text={row.before} />
            </td>
            <td>
              <RecordedValue text={row.after} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const MOMENT = /^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$/;

/** Shows a recorded value as it is, except that a timestamp is shown in the viewer's time zone. */
function RecordedValue({ text }: { text: string }) {
  return MOMENT.test(text) ? <Moment at={text} isExact /> : <>{text}</>;
}
