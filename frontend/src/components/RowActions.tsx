import { ActionIcon } from '@mantine/core';
import { IconPencil, IconTrash } from './icons';

interface RowActionsProps {
  editLabel: string;
  deleteLabel: string;
  onEdit: () => void;
  onDelete: () => void;
}

/** The two icon buttons at the end of a table's row, which edit and delete it. The labels are for screen readers. */
export function RowActions({ editLabel, deleteLabel, onEdit, onDelete }: RowActionsProps) {
  return (
    <>
      <ActionIcon variant="subtle" color="gray" aria-label={editLabel} onClick={onEdit}>
        <IconPencil size={15} />
      </ActionIcon>
      <ActionIcon variant="subtle" color="red" aria-label={deleteLabel} onClick={onDelete}>
        <IconTrash size={15} />
      </ActionIcon>
    </>
  );
}
