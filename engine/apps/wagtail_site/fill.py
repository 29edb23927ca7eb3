"""`python fill.py ARTICLES`: creates an account, and articles with tags and comments. The content is the same each
time."""

import os
import sys
from datetime import date, timedelta

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "settings")
django.setup()

# Models can be imported only after Django was set up.
from articles.models import Article, Comment, Front  # noqa: E402
from django.contrib.auth import get_user_model  # noqa: E402
from wagtail.models import Page, Site  # noqa: E402

WORDS = ("river", "stone", "paper", "window", "garden", "letter", "engine", "mountain", "harbour", "winter", "copper")


def fill(articles: int) -> None:
    user = get_user_model().objects.create_superuser("admin", "admin@apps.test", "a password of the lab")
    front = Page.get_first_root_node().add_child(instance=Front(title="The lab", slug="lab"))
    Site.objects.update(hostname="apps.test", port=80, root_page=front, site_name="The lab")
    for number in range(1, articles + 1):
        words = [WORDS[(number * 3 + word * (number % 5 + 1)) % len(WORDS)] for word in range(200)]
        article = Article(
            title=f"Article {number}",
            slug=f"article-{number}",
            date=date(2026, 1, 1) + timedelta(days=number),
            intro=" ".join(words[:10]),
            body="".join(f"<p>{' '.join(words[part : part + 40])}</p>" for part in range(0, 200, 40)),
            show_in_menus=number <= 5,
        )
        front.add_child(instance=article)
        article.tags.add(*(WORDS[(number * step) % len(WORDS)] for step in (1, 3, 5)))
        article.save_revision(user=user).publish(user=user)
        comments = (Comment(article=article, author=f"Reader {one}", text=words[one]) for one in range(number % 6))
        Comment.objects.bulk_create(comments)


fill(int(sys.argv[1]))
