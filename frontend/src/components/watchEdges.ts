// Sets `data-before` and `data-beyond` on the scroll container of a table that continues to the left or right of the
// visible part. Only some browsers can detect this in CSS alone. The attributes are set directly, so that scrolling
// renders no component.

/**
 * A React ref callback for a table whose parent element scrolls horizontally. Until the returned function is called,
 * it sets the attribute `data-before` of the parent while a part of the table is hidden on the left, and `data-beyond`
 * while a part is hidden on the right.
 */
export function watchEdges(table: HTMLTableElement): () => void {
  const scroller = table.parentElement;
  if (!scroller) return () => undefined;
  const tell = () => {
    const { scrollLeft, scrollWidth, clientWidth } = scroller;
    scroller.toggleAttribute('data-before', scrollLeft > 0);
    // Positions are fractions of pixels, widths are integers.
    scroller.toggleAttribute('data-beyond', scrollLeft + clientWidth < scrollWidth - 1);
  };
  const sizes = new ResizeObserver(tell);
  sizes.observe(scroller);
  sizes.observe(table);
  scroller.addEventListener('scroll', tell, { passive: true });
  return () => {
    sizes.disconnect();
    scroller.removeEventListener('scroll', tell);
  };
}
