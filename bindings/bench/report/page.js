'use strict'
// Headings of tables sort their column; a second click reverses the order.
for (const table of document.querySelectorAll('table.sortable')) {
  const heads = [...table.tHead.rows[0].cells]
  heads.forEach((head, column) => {
    const button = document.createElement('button')
    button.textContent = head.textContent
    head.replaceChildren(button)
    button.addEventListener('click', () => {
      const falling = head.getAttribute('aria-sort') === 'ascending'
      for (const h of heads) h.removeAttribute('aria-sort')
      head.setAttribute('aria-sort', falling ? 'descending' : 'ascending')
      const key = row => {
        const cell = row.cells[column], text = cell.dataset.key ?? cell.textContent
        return text !== '' && isFinite(parseFloat(text)) ? parseFloat(text) : text
      }
      const rows = [...table.tBodies[0].rows].sort((a, b) => {
        const x = key(a), y = key(b)
        const order = typeof x === 'number' && typeof y === 'number' ? x - y : String(x).localeCompare(String(y), undefined, { numeric: true })
        return falling ? -order : order
      })
      table.tBodies[0].append(...rows)
    })
  })
}
// A click on a name of a legend hides its curve. The wheel zooms a chart, dragging moves it, a double click shows all of it.
for (const svg of document.querySelectorAll('svg.chart')) {
  for (const legend of svg.querySelectorAll('.legend')) {
    legend.addEventListener('click', () => {
      for (const part of svg.querySelectorAll(`[data-series="${legend.dataset.series}"]`)) part.classList.toggle('off')
    })
  }
  const whole = svg.getAttribute('viewBox'), box = svg.viewBox.baseVal
  const set = (x, y, width, height) => svg.setAttribute('viewBox', `${x} ${y} ${width} ${height}`)
  svg.addEventListener('wheel', event => {
    if (!event.ctrlKey && !event.shiftKey) return // the page scrolls
    event.preventDefault()
    const at = svg.getBoundingClientRect(), factor = (event.deltaY || event.deltaX) > 0 ? 1.2 : 1 / 1.2
    const px = (event.clientX - at.left) / at.width, py = (event.clientY - at.top) / at.height
    const width = box.width * factor, height = box.height * factor
    set(box.x + px * (box.width - width), box.y + py * (box.height - height), width, height)
  }, { passive: false })
  svg.addEventListener('pointermove', event => {
    if (event.buttons !== 1) return
    const at = svg.getBoundingClientRect()
    set(box.x - event.movementX * box.width / at.width, box.y - event.movementY * box.height / at.height, box.width, box.height)
  })
  svg.addEventListener('dblclick', () => svg.setAttribute('viewBox', whole))
}
