"""A blog: a front page with articles below it, their tags and comments."""

from typing import Any

from django.db import models
from django.http import HttpRequest
from modelcluster.contrib.taggit import ClusterTaggableManager
from modelcluster.fields import ParentalKey
from taggit.models import TaggedItemBase
from wagtail.admin.panels import FieldPanel
from wagtail.fields import RichTextField
from wagtail.models import Page
from wagtail.search import index


class Front(Page):
    def get_context(self, request: HttpRequest, *args: Any, **kwargs: Any) -> dict[str, Any]:
        articles = Article.objects.live().child_of(self).order_by("-date", "-pk").prefetch_related("tags")
        return {**super().get_context(request, *args, **kwargs), "articles": articles[:10]}


class ArticleTag(TaggedItemBase):
    content_object = ParentalKey("Article", related_name="tagged_items", on_delete=models.CASCADE)


class Article(Page):
    date = models.DateField()
    intro = models.CharField(max_length=250)
    body = RichTextField()
    tags = ClusterTaggableManager(through=ArticleTag, blank=True)

    content_panels = [*Page.content_panels, *(FieldPanel(name) for name in ("date", "intro", "body", "tags"))]
    search_fields = [*Page.search_fields, index.SearchField("intro"), index.SearchField("body")]


class Comment(models.Model):
    article = models.ForeignKey(Article, related_name="comments", on_delete=models.CASCADE)
    author = models.CharField(max_length=80)
    text = models.TextField()

    class Meta:
        ordering = ["pk"]
