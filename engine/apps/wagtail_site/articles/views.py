from datetime import date

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from articles.models import Article, Comment, Front


def search(request: HttpRequest) -> HttpResponse:
    found = Article.objects.live().search(request.GET.get("q", ""))
    return render(request, "articles/list.html", {"articles": found[:10]})


def tagged(request: HttpRequest, tag: str) -> HttpResponse:
    found = Article.objects.live().filter(tags__slug=tag).order_by("-date", "-pk")
    return render(request, "articles/list.html", {"articles": found[:10]})


@require_POST
def comment(request: HttpRequest, article: int) -> HttpResponse:
    on = get_object_or_404(Article, pk=article)
    Comment.objects.create(article=on, author=request.POST["author"], text=request.POST["text"])
    return redirect(on.url)


@login_required
@require_POST
def edit(request: HttpRequest, article: int) -> HttpResponse:
    edited = get_object_or_404(Article, pk=article).get_latest_revision_as_object()
    edited.title = request.POST["title"]
    edited.save_revision(user=request.user).publish(user=request.user)
    return redirect(edited.url)


@login_required
@require_POST
def add(request: HttpRequest) -> HttpResponse:
    title = request.POST["title"]
    added = Article(title=title, slug=request.POST["slug"], date=date(2027, 1, 1), intro=title, body="<p>New</p>")
    Front.objects.get().add_child(instance=added)
    added.tags.add("river")
    added.save_revision(user=request.user).publish(user=request.user)
    return redirect(added.url)
