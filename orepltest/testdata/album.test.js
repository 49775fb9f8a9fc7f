import { test, equal } from 'test'
import { photos } from 'album'

test('photos', () => { equal(photos('sea'), ['sea.png']) })
