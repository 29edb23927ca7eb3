import { Fragment } from 'react';

/** A parameter's name; where it must break, it breaks between its words. */
export function ParameterName({ name }: { name: string }) {
  return (
    <code>
      {name.split('_').map((word, index) => (
        <Fragment key={index}>
          {index > 0 && (
            <>
              _<wbr />
            </>
          )}
          {word}
        </Fragment>
      ))}
    </code>
  );
}
